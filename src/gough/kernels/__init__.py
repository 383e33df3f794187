"""One traced expression, several evaluators: NumPy replay, compiled C, intervals, derivatives, C for a controller.

The only package that imports CasADi.
"""

from gough.kernels.compiler import CompilationError as CompilationError
from gough.kernels.compiler import CompilerWarning as CompilerWarning
from gough.kernels.csource import Reals as Reals
from gough.kernels.kernel import Kernel as Kernel
from gough.kernels.kernel import trace as trace
from gough.kernels.ports import Port as Port

__all__ = ["CompilationError", "CompilerWarning", "Kernel", "Port", "Reals", "trace"]
