"""The costs of kernels: the benchmark compiles every kernel that the project compiles ahead."""

from importlib import import_module

from benchmarks import kernels
from resources.kernels.kernel_cache import KernelCache
from tests.house import sources


def test_the_benchmark_knows_every_kernel_that_is_compiled_ahead() -> None:
    modules = [import_module(name) for name in sources() if ".kernels." in name]
    ahead = {
        f"{module.__name__}.{name}"
        for module in modules
        for name, function in vars(module).items()
        if isinstance(getattr(function, "_cache", None), KernelCache)
        and function.py_func.__module__ == module.__name__
        and hasattr(function, "ahead")
    }
    found = kernels.all_kernels()
    assert set(found) == ahead
    assert len(found) == len(ahead)
    assert any(".dedupers.kernels." in name for name in found)


def test_the_page_shows_the_totals_and_the_slowest() -> None:
    functions = {f"module.function_{number}": 20.0 - number for number in range(20)}
    shown = kernels.slowest({"for_sample_corpus_s": 1.0, "all_s": 2.0, "kernels": 3, **functions})
    assert list(shown)[:3] == list(kernels.TOTALS)
    assert list(shown)[3:] == list(functions)[: kernels.SLOWEST]
