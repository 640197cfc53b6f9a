"""Files and folders on this machine: atomic output, locks, private files, hash-chained logs."""
