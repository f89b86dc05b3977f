"""The states of a run, and what a run that was cut off says of itself."""

QUEUED, RUNNING, PAUSED = "queued", "running", "paused"
FINISHED, STOPPED, FAILED, CUT_OFF = "finished", "stopped", "failed", "cut off"
ACTIVE = (QUEUED, RUNNING, PAUSED)
OVER = (FINISHED, STOPPED, FAILED, CUT_OFF)
ELSEWHERE = "Trained on the command line: reload to see how far it has come."
CUT_OFF_MESSAGE = "The server stopped while this was running. What was recorded is here; Train runs it again."
OLDER_MESSAGE = "An older version of this app was training this. What was recorded is here; Train runs it by this one."
