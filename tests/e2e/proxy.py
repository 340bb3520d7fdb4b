"""A way over TCP that can be cut: whatever is under way then waits, as with a network that drops packets, and goes on when it is mended."""
import socket, threading

CHUNK = 1 << 16


class Proxy:
    """Listens on a port of 127.0.0.1 and passes on to another one, which may be named later."""

    def __init__(self):
        self.target = None
        self.whole = threading.Event()
        self.whole.set()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def cut(self):
        self.whole.clear()

    def mend(self):
        self.whole.set()

    def close(self):
        self.mend()
        self.server.close()

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:  # closed
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.whole.wait()
        try:
            there = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            client.close()
            return
        back = threading.Thread(target=self.pump, args=(there, client), daemon=True)
        back.start()
        self.pump(client, there)
        back.join()
        client.close()
        there.close()

    def pump(self, source, sink):
        try:
            while data := source.recv(CHUNK):
                self.whole.wait()
                sink.sendall(data)
        except OSError:
            pass
        finally:  # one end has gone: so has the other
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
