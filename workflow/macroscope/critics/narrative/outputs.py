"""Names of the files in a detector's folder: what trains and tests it writes, and figures, report and scores read."""

ABOUT, WEIGHTS, ENCODER = "detector.json", "model.safetensors", "encoder"
TRAINING = "training.json"
METRICS, ROC, ERRORS, EVALUATION, SPEED = "metrics.csv", "roc.csv", "errors.csv", "evaluation.json", "speed.json"
POINT, FOUND = "operating_point.json", "found.csv"
