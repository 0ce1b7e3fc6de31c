"""`Task` under the name of its module in version 0.1, for stages that were written for it."""

from resources.stage.task import Task

__all__ = ["Task"]
