"""Sums on a Spark cluster: imported on first use only, and refused without PySpark."""

import warnings

from sottovoce.errors import NotInstalled, UsageError, install_command


def check_installed() -> None:
    """Refuse to work without PySpark 4 and pyarrow."""
    try:
        with warnings.catch_warnings():
            # It looks for pandas, which is not used here, and warns about it.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            import pyarrow  # noqa: F401
            import pyspark.sql
    except ImportError as error:
        library = str(error.name or "pyspark").partition(".")[0]
        raise NotInstalled(library, purpose="the Spark engine", extra="spark") from None
    if int(pyspark.__version__.partition(".")[0]) < 4:
        raise UsageError(
            f"the Spark engine needs PySpark 4 or newer, not {pyspark.__version__}: "
            + install_command("spark")
        )


check_installed()
