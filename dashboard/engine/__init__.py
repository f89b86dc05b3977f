"""What trains: the engine, its queue and workers, and the estimate of what a run costs."""
