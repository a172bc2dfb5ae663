"""The folder of figures that others published or computed; it is no part of this repository."""

import os
from pathlib import Path

REFERENCE = (Path(__file__).resolve().parents[1] / os.environ.get("BOBA_REFERENCE_DIR", "../shared")).resolve()
"""Set by BOBA_REFERENCE_DIR; a relative path starts at the repository."""
