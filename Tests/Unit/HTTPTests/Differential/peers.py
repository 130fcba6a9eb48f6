"""What h11 and llhttp (through httptools) make of bytes.

Each line of standard input is one connection's bytes in hexadecimal. Each line of output is a JSON object: for each
parser the requests that it saw ([method, target, content in hexadecimal]) and how it ended: "idle" after the last
byte of a request, "waiting" within one, "closed" when a request was the last one by its own words, "refused".
"""

import json
import sys

import h11
import httptools


def text(raw):
    return raw.decode("latin-1")


def read_with_h11(data):
    requests = []
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=65536)
    connection.receive_data(data)
    while True:
        head, content = None, b""
        try:
            while True:
                event = connection.next_event()
                if isinstance(event, h11.Request):
                    head = event
                elif isinstance(event, h11.Data):
                    content += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    break
                else:  # NEED_DATA, PAUSED
                    pending = head is not None or bool(connection.trailing_data[0])
                    return requests, "waiting" if pending else "idle"
        except h11.RemoteProtocolError as error:
            return requests, "refused: " + str(error)[:60]
        requests.append([text(head.method), text(head.target), content.hex()])
        connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
        connection.send(h11.EndOfMessage())
        if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
            return requests, "closed"
        connection.start_next_cycle()


class Listener:
    def __init__(self):
        self.requests, self.parser = [], None
        self.within, self.closed = False, False

    def on_message_begin(self):
        if self.closed:
            raise EOFError
        self.target, self.content, self.within = b"", b"", True

    def on_url(self, url):
        self.target += url

    def on_body(self, content):
        self.content += content

    def on_message_complete(self):
        self.within = False
        self.closed = not self.parser.should_keep_alive()
        self.requests.append([text(self.parser.get_method()), text(self.target), self.content.hex()])


def read_with_llhttp(data):
    requests = []
    while True:
        listener = Listener()
        listener.requests = requests
        listener.parser = httptools.HttpRequestParser(listener)
        try:
            listener.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # A server that does not upgrade goes on with what follows.
            if listener.closed:
                return requests, "closed"
            data = data[upgrade.args[0]:]
            continue
        except httptools.HttpParserError as error:
            return requests, "closed" if listener.closed else "refused: " + str(error)[:60]
        if listener.closed:
            return requests, "closed"
        return requests, "waiting" if listener.within else "idle"


for line in sys.stdin:
    data = bytes.fromhex(line)
    answer = {}
    for name, read in (("h11", read_with_h11), ("llhttp", read_with_llhttp)):
        requests, end = read(data)
        answer[name] = {"requests": requests, "end": end}
    print(json.dumps(answer))
