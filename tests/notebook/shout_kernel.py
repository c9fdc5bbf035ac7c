"""A kernel of another language, over Jupyter's true protocol: `say WORD` prints it, any other line is an error."""

import sys
from typing import Any, ClassVar

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

LANGUAGE = "Shout"


class ShoutKernel(Kernel):
    implementation = "shout"
    implementation_version = "1"
    banner = ""
    language_info: ClassVar[dict[str, str]] = {"name": "shout", "mimetype": "text/plain", "file_extension": ".shout"}

    async def do_execute(self, code: str, silent: bool, *_: Any, **__: Any) -> dict[str, Any]:
        for line in code.splitlines():
            word, _, said = line.partition(" ")
            if word != "say":
                self.send_response(self.iopub_socket, "stream", {"name": "stderr", "text": f"{word}: not a word\n"})
                return {"status": "error", "ename": "", "evalue": "", "traceback": []}
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": f"{said.upper()}\n"})
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}


if __name__ == "__main__":
    sys.path.pop(0)
    IPKernelApp.launch_instance(kernel_class=ShoutKernel)
