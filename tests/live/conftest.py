"""Where the module is that these tests import."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
