"""Why a request is refused, in words for the person at the page."""


class RefusedError(Exception):
    """A request that cannot be met.

    Parameters
    ----------
    status
        The HTTP status.
    message
        What was got, what was expected and what to do.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
