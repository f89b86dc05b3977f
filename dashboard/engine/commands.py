"""What visitors want of a run: that it goes, waits or ends. Workers obey the same words."""

GO, PAUSE, STOP = "go", "pause", "stop"
