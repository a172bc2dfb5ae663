"""Every setting of the process, read once from the environment.

`ENVIRONMENT` is the whole list of variables; a wrong value stops the start with one sentence that
names the variable, what it holds and what is expected. Parameters of a simulation are no settings:
they are fields of the scenario document.
"""

import os
import secrets
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from webapp.environment import Variable, value_of
from webapp.static_version import never_changes, static_version

BASE_DIR = Path(__file__).resolve().parent.parent


ENVIRONMENT = (
    Variable("BOBA_DATA_DIR", "text", str(BASE_DIR / "var"), "Folder of the database, broker, keys and caches"),
    Variable(
        "DATABASE_URL", "database", "", "postgresql://user:password@host:port/name; empty is SQLite in BOBA_DATA_DIR"
    ),
    Variable("REDIS_URL", "redis", "", "redis://host:port/number for broker and doorbell; empty is the embedded mode"),
    Variable("BOBA_SECRET_KEY", "text", "", "Signs sessions; empty is a key kept in the data folder"),
    Variable("BOBA_DEBUG", "flag", "false", "Django's debug pages and unhashed static files; never for a team"),
    Variable("BOBA_ALLOWED_HOSTS", "list", "127.0.0.1,localhost,[::1]", "Host names the site answers to"),
    Variable("BOBA_HTTPS", "flag", "false", "The site is reached by https: secure cookies and HSTS"),
    Variable(
        "BOBA_TRUSTED_ORIGINS", "list", "", "Origins of forms and sockets behind a proxy, as https://boba.example.org"
    ),
    Variable("BOBA_PORT", "port", "8000", "Port of `manage.py up` on 127.0.0.1"),
    Variable("BOBA_WORKERS", "count", "2", "Simulations that `manage.py up` runs at a time"),
    Variable("BOBA_LOG_LEVEL", "level", "INFO", "Least level that is logged: DEBUG, INFO, WARNING, ERROR"),
    Variable("BOBA_STALE_S", "seconds", "10", "Silence after which a running run counts as lost by its worker"),
    Variable("BOBA_CANCEL_GRACE_S", "seconds", "5", "Time a worker has to stop by itself before it is killed"),
    Variable("BOBA_RUN_LIMIT_S", "seconds", "3600", "Longest time a worker may take for one attempt of a run"),
)


def _value(name: str) -> Any:
    return value_of(next(variable for variable in ENVIRONMENT if variable.name == name))


def _private_folder(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        sentence = f"BOBA_DATA_DIR is {str(path)!r}, which cannot be created ({error.strerror}); expected a folder"
        raise ImproperlyConfigured(sentence) from error
    if not os.access(path, os.W_OK | os.X_OK):
        raise ImproperlyConfigured(f"BOBA_DATA_DIR is {str(path)!r}; expected a folder that this user may write to")
    return path


def _kept_secret(path: Path) -> str:
    """Return the key in `path`, made on first use; of two processes that race, one wins."""
    if not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(50))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text()


def _database(url: str) -> dict[str, Any]:
    """Return Django's description of the database; SQLite is made safe for several processes."""
    if not url:
        config: dict[str, Any] = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "boba.sqlite3")}
    else:
        config = dict(environ.Env.db_url_config(url))
    if config["ENGINE"].endswith("sqlite3"):
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    return config


DATA_DIR = _private_folder(Path(_value("BOBA_DATA_DIR")).expanduser().resolve())
REDIS_URL: str = _value("REDIS_URL")
EMBEDDED = not REDIS_URL
"""Whether broker and doorbell live in the data folder instead of Redis."""

SECRET_KEY = _value("BOBA_SECRET_KEY") or _kept_secret(DATA_DIR / "secret_key")
DEBUG: bool = _value("BOBA_DEBUG")
HTTPS: bool = _value("BOBA_HTTPS")
ALLOWED_HOSTS: list[str] = _value("BOBA_ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS: list[str] = _value("BOBA_TRUSTED_ORIGINS")

PORT: int = _value("BOBA_PORT")
WORKERS: int = _value("BOBA_WORKERS")
STALE_S: float = _value("BOBA_STALE_S")
CANCEL_GRACE_S: float = _value("BOBA_CANCEL_GRACE_S")
RUN_LIMIT_S: float = _value("BOBA_RUN_LIMIT_S")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "webapp.accounts",
    "webapp.scenarios",
    "webapp.runs",
    "webapp.api",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "webapp.security.ContentSecurityPolicy",
    "webapp.assets.StaticFilesMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "webapp.urls"
ASGI_APPLICATION = "webapp.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": _database(_value("DATABASE_URL"))}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_VERSION = static_version(BASE_DIR / "static")
STATIC_URL = f"/static/{STATIC_VERSION}/"
STATIC_ROOT = DATA_DIR / "static" / STATIC_VERSION
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATIC_COMPLETE = DATA_DIR / "static" / f"{STATIC_VERSION}.complete"
"""Exists once `assets_collect` has filled STATIC_ROOT; until then files come from their sources."""
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "webapp.assets.PlotlyFinder",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedStaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = DEBUG or not STATIC_COMPLETE.exists()
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_IMMUTABLE_FILE_TEST = never_changes

DATA_UPLOAD_MAX_MEMORY_SIZE = 33_000_000
"""A little above the longest scenario text that is read, so that the sentence comes from there."""

SESSION_COOKIE_NAME = "boba_session"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "boba_csrf"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
X_FRAME_OPTIONS = "DENY"
SILENCED_SYSTEM_CHECKS = [
    "security.W004",  # HSTS and
    "security.W008",  # the redirect to https and
    "security.W012",  # secure session cookies and
    "security.W016",  # secure CSRF cookies follow BOBA_HTTPS; the embedded mode is plain http on loopback
    "security.W005",
    "security.W021",  # subdomains and preload lists are the operator's decision
]

CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_TRANSPORT = None if REDIS_URL else "webapp.broker:Transport"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = RUN_LIMIT_S
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_DEFAULT_QUEUE = "runs"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 120
if EMBEDDED:
    _broker_dir = DATA_DIR / "broker"
    for _folder in ("queue", "taken"):
        (_broker_dir / _folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "data_folder_in": str(_broker_dir / "queue"),
        "data_folder_out": str(_broker_dir / "queue"),
        "processed_folder": str(_broker_dir / "taken"),
        "polling_interval": 0.02,
    }
    CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
    CHANNEL_LAYERS: dict[str, Any] = {}
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": int(2 * RUN_LIMIT_S)}
    CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": [REDIS_URL]}},
    }

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": _value("BOBA_LOG_LEVEL")},
}
