"""One module per tuple of declared statistics; see `tests.calibration.setting`."""
