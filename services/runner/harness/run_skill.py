"""Runs one skill in this process: it gets its arguments over file descriptor 3 and says there how it ended."""

import base64
import importlib.util
import inspect
import json
import os
import re
import sys
import traceback
import types

CHANNEL = os.fdopen(os.dup(3), "rb", buffering=0)
_pending = b""
_next_id = 1
_registered = []


class SkillRefusal(Exception):
    """A refusal of the skill's own: a result, not a fault."""

    def __init__(self, code, message, retryable=False, details=(), effect="possible"):
        super().__init__(message)
        self.code = str(code)
        self.message = str(message)
        self.retryable = bool(retryable)
        self.details = [str(detail) for detail in details or ()]
        self.effect = "none" if effect == "none" else "possible"


def _say(message):
    data = (json.dumps(message, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
    while data:
        data = data[os.write(3, data):]


def _hear():
    global _pending
    while b"\n" not in _pending:
        chunk = CHANNEL.read(65536)
        if not chunk:
            os._exit(0)
        _pending += chunk
    line, _pending = _pending.split(b"\n", 1)
    return json.loads(line)


def _host(name, args):
    global _next_id
    _say({"type": "host", "id": _next_id, "name": name, "args": args})
    _next_id += 1
    reply = _hear()
    if not reply["ok"]:
        raise SkillRefusal(reply["code"], reply["message"], reply.get("retryable", False), (), "none")
    return reply["value"]


class Files:
    """The files of one mount."""

    def __init__(self, mount):
        self._mount = mount

    def read(self, path, offset=0, max_bytes=None):
        args = {"mount": self._mount, "path": path, "offset": offset}
        if max_bytes is not None:
            args["max_bytes"] = max_bytes
        return base64.b64decode(_host("files.read", args)["base64"])

    def write(self, path, content):
        data = content.encode("utf-8") if isinstance(content, str) else content
        return _host("files.write", {"mount": self._mount, "path": path, "base64": base64.b64encode(data).decode("ascii")})

    def list(self, path="."):
        return _host("files.list", {"mount": self._mount, "path": path})


class Mail:
    """Mail to recipients on the operator's list."""

    def send(self, **mail):
        return _host("mail.send", mail)


class Context:
    """What a skill can ask of the host; each request is judged by the tags of its version."""

    def __init__(self, message):
        self.call_id = message["call_id"]
        self.skill = message["skill"]
        self.traceparent = message["traceparent"]

    def refuse(self, code, message, retryable=False, details=(), effect="possible"):
        raise SkillRefusal(code, message, retryable, details, effect)

    def mounts(self):
        return _host("files.mounts", {})

    def files(self, mount):
        return Files(mount)

    def fetch(self, url, **options):
        fetched = _host("fetch", {"url": url, **options})
        fetched["body"] = base64.b64decode(fetched.pop("base64"))
        return fetched

    def mail(self, connection=None):
        return Mail()


def _install_module():
    """Lets a skill write `from repertoire import skill` and register its function with a decorator."""
    module = types.ModuleType("repertoire")

    def skill(target=None, **_options):
        if callable(target):
            _registered.append(target)
            return target
        return lambda function: (_registered.append(function), function)[1]

    module.skill = skill
    module.register = skill
    module.SkillRefusal = SkillRefusal
    sys.modules["repertoire"] = module


def _find(module, name):
    if _registered:
        return _registered[-1]
    snake = name.replace("-", "_")
    for candidate in ("run", "main", "handler", "execute", snake):
        found = getattr(module, candidate, None)
        if callable(found):
            return found
    return None


def _call(function, arguments, context):
    parameters = list(inspect.signature(function).parameters.values())
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_keywords = any(p.kind == p.VAR_KEYWORD for p in parameters)
    names = [p.name for p in positional]
    # A function that names the arguments gets them by name; one that takes a dictionary gets that.
    by_name = bool(arguments) and all(key in names for key in arguments)
    takes_dictionary = bool(positional) and positional[0].default is inspect.Parameter.empty
    if by_name or not takes_dictionary:
        extra = {"ctx": context} if "ctx" in names else {"context": context} if "context" in names else {}
        known = {key: value for key, value in arguments.items() if takes_keywords or key in names}
        return function(**known, **extra)
    return function(arguments, context) if len(positional) >= 2 else function(arguments)


def _tell(error):
    """What happened is for the caller; where, in which file of this machine, is for the operator's log."""
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"message": f"{type(error).__name__}: {error}"[:500], "trace": trace[-4000:]}


def _to_json(value):
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        # Half of a character cannot be written as it is, but it can be escaped.
        text = json.dumps(value, ensure_ascii=True, allow_nan=False)
    return text


def _finish_with(value):
    is_envelope = isinstance(value, dict) and isinstance(value.get("ok"), bool) and ("data" in value or "error" in value)
    if is_envelope and not value["ok"]:
        error = value.get("error")
        error = error if isinstance(error, dict) else {"message": error}
        message = str(error.get("message") or "the skill said no")
        return {"type": "skill_error", "code": str(error.get("code") or "SKILL_FAILED")[:64], "message": message, "retryable": error.get("retryable") is True, "details": []}
    try:
        return {"type": "done", "json": _to_json(value.get("data") if is_envelope else value)}
    except (TypeError, ValueError) as error:
        return {"type": "failed", "reason": "not_json", **_tell(error)}


def _run(message):
    _install_module()
    sys.path.insert(0, message["code_dir"])
    path = os.path.join(message["code_dir"], message["entry"])
    try:
        spec = importlib.util.spec_from_file_location(re.sub(r"\W", "_", message["entry"][:-3]), path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except SyntaxError as error:
        return {"type": "failed", "reason": "syntax_error", **_tell(error)}
    except BaseException as error:  # noqa: BLE001 - whatever a skill raises while it loads is its failure
        return {"type": "failed", "reason": "threw", **_tell(error)}
    function = _find(module, message["skill"])
    if function is None:
        return {"type": "failed", "reason": "missing_export", "message": message["entry"] + " has no function run"}
    try:
        return _finish_with(_call(function, message["arguments"], Context(message)))
    except SkillRefusal as refusal:
        return {"type": "skill_error", "code": refusal.code[:64], "message": refusal.message, "retryable": refusal.retryable, "details": refusal.details, "effect": refusal.effect}
    except BaseException as error:  # noqa: BLE001 - the same for its run
        return {"type": "failed", "reason": "threw", **_tell(error)}


if __name__ == "__main__":
    _say(_run(_hear()))
