"""The guided tour: what the recordings answer, and the charts on which predictions meet it."""
