# What public rewards use and the sandbox has not: alarms, threads and an event loop. Each has a stand-in that does the same at once, or
# nothing, and says so in what the program prints.
import asyncio, concurrent.futures.thread, signal, threading

_told = set()


def _tell(text):
    if text not in _told:
        _told.add(text)
        print(text)


def _no_alarm(name, answer):
    def stand_in(*_):
        _tell(f"signal.{name} does nothing here: reward.timeout_ms ends a call that takes too long")
        return answer

    return stand_in


signal.alarm = _no_alarm("alarm", 0)
signal.setitimer = _no_alarm("setitimer", (0.0, 0.0))


class _AtOnce(concurrent.futures.Executor):
    """Does what it is given before it returns: there are no threads and no processes."""

    def __init__(self, *_, initializer=None, initargs=(), **__):
        if initializer:
            initializer(*initargs)

    def submit(self, work, /, *args, **kwargs):
        future = concurrent.futures.Future()
        try:
            future.set_result(work(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


concurrent.futures.ThreadPoolExecutor = concurrent.futures.ProcessPoolExecutor = _AtOnce
concurrent.futures.thread.ThreadPoolExecutor = _AtOnce


def _start_at_once(thread):
    thread._started.set()
    thread.run()


threading.Thread.start = _start_at_once
threading.Thread.join = lambda thread, timeout=None: None
threading.Thread.is_alive = lambda thread: False


class _Loop(asyncio.BaseEventLoop):
    """An event loop whose clock jumps to what it waits for next."""

    def __init__(self):
        super().__init__()
        self._now, self._selector = 0.0, self

    def time(self):
        return self._now

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError("it waits for something that never comes")
        self._now += timeout
        return []

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, work, *args):
        future = self.create_future()
        future.set_result(work(*args))
        return future


def _run(awaited, **_):
    async def main():
        return await awaited

    before = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    loop = _Loop()
    try:
        return loop.run_until_complete(main())
    finally:
        loop._closed = True
        asyncio._set_running_loop(before)


def _settled(value):
    """What a function returned; of an async one what it comes to."""
    return _run(value) if inspect.isawaitable(value) else value


asyncio.run = _run
asyncio.new_event_loop = asyncio.get_event_loop = asyncio.events.new_event_loop = asyncio.events.get_event_loop = _Loop
