"""Static files: hashed and compressed, third-party ones straight out of their wheels."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage
from django.http import FileResponse, HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

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


class HashedStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise has no types
    """Names carry a hash of the content, in imports between JavaScript modules too.

    Before `collectstatic` has written a manifest (tests, debug mode) names stay as they are.
    """

    support_js_module_import_aggregation = True

    def stored_name(self, name: str) -> str:
        """Return the hashed name, or `name` itself while there is no manifest."""
        return super().stored_name(name) if self.hashed_files else name


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """whitenoise, with each file sent as one piece: under ASGI its file iterators are read whole anyway."""

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """Return the file's response."""
        streamed: FileResponse = WhiteNoiseMiddleware.serve(static_file, request)
        response = HttpResponse(streamed.getvalue(), status=streamed.status_code)
        response.headers = streamed.headers
        return response
