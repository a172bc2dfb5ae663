"""Boba's simulation core: a scenario goes in, a result comes out, nothing else happens."""

ENGINE_VERSION = "0.1.0"
"""Changes whenever the figures of an unchanged scenario may change (see CHANGELOG.md)."""
