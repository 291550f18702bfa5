"""One module for each tuple of declared statistics; see `tests.calibration.setting`."""
