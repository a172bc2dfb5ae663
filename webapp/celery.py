"""The Celery application; one task computes one run."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

app = Celery("boba")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
