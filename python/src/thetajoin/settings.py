"""Keys of the settings, for ``spark.conf.set``. All can be changed while a session runs.

>>> from thetajoin import settings
>>> spark.conf.set(settings.ENABLED, False)
>>> spark.conf.unset(settings.ENABLED)
"""

from thetajoin._settings import *  # noqa: F403
from thetajoin._settings import __all__ as __all__
