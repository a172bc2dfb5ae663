#!/usr/bin/env python3
"""Django's command line; `python manage.py up` starts the whole product."""

import os
import sys
from importlib import import_module

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    """Run the command that the arguments name; a wrong setting ends it with one sentence."""
    try:
        import_module(os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings"))
    except ImproperlyConfigured as error:
        sys.exit(f"boba: {error}")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
