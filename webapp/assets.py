"""Static files: found in our folder and in the wheels that bring them, collected once a version."""

import shutil
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from django.http import FileResponse, HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

PLOTLY_NAME = "vendor/plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds the plotly.js that the plotly wheel carries, as `vendor/plotly.min.js`."""

    def _storage(self) -> FileSystemStorage:
        spec = find_spec("plotly")
        if spec is None or spec.origin is None:
            raise FileNotFoundError("the plotly package is not installed")
        storage = FileSystemStorage(location=Path(spec.origin).parent / "package_data")
        storage.prefix = "vendor"  # type: ignore[attr-defined]  # staticfiles prefixes names with it
        return storage

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        """Return the file's place if `path` names it."""
        if path != PLOTLY_NAME:
            return []
        place = self._storage().path(Path(PLOTLY_NAME).name)
        return [place] if find_all else place

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterable[Any]:
        """Yield the one file."""
        yield Path(PLOTLY_NAME).name, self._storage()


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """whitenoise, with each file sent as one piece: under ASGI its file iterators are read whole anyway."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the file's response."""
        streamed: FileResponse = WhiteNoiseMiddleware.serve(static_file, request)
        response = HttpResponse(streamed.getvalue(), status=streamed.status_code)
        response.headers = streamed.headers
        return response


def assets_collect() -> None:
    """Fill STATIC_ROOT with this version's files and compressed copies, unless that is done; older versions go."""
    if settings.STATIC_COMPLETE.exists():
        return
    for old in settings.STATIC_ROOT.parent.iterdir():
        if old != settings.STATIC_ROOT:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    call_command("collectstatic", interactive=False, verbosity=0)
    settings.STATIC_COMPLETE.touch()
