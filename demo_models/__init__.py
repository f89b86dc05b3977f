"""The tasks that the race trains: a model, its data, its loss and its metric each.

`TASKS` holds their descriptions, which need no torch; `TASKS[name].open(settings)` makes one ready.
"""

from demo_models.descriptions import DIGITS, IMAGES, TEXT
from demo_models.small_descriptions import NUMBERS, SURFACES
from demo_models.task import Setting, Task

__all__ = ["TASKS", "Setting", "Task"]

TASKS: dict[str, Task] = {task.name: task for task in (NUMBERS, DIGITS, TEXT, IMAGES, SURFACES)}
