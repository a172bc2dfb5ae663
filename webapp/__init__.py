"""The web side of Boba: a Django project around the simulation library."""

from webapp.celery import app as celery_app

__all__ = ["celery_app"]
