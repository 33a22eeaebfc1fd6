#!/usr/bin/env python3
# A small server.
{{>head}}
# Stop it: press Ctrl+C.
"""Answers requests with a network in ONNX: POST a JSON array of numbers to /. At /health it says that it is there, at /metrics how busy it is."""
import http.server
import json
import sys
import threading

import numpy
import onnxruntime

PORT = {{port|word}}
PROVIDERS = [{{#onnx_provider}}{{onnx_provider|python}}, {{/onnx_provider}}"CPUExecutionProvider"]
session = onnxruntime.InferenceSession(sys.argv[1], providers=PROVIDERS)
entry = session.get_inputs()[0]


lock = threading.Lock()
in_flight = 0


def enter(change):
    global in_flight
    with lock:
        in_flight += change


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "application/json" if self.command == "POST" else "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def do_GET(self):
        known = {"/health": "ok\n", "/metrics": f"# TYPE requests_in_flight gauge\nrequests_in_flight {in_flight}\n"}
        self.answer(200 if self.path in known else 404, known.get(self.path, ""))

    def do_POST(self):
        enter(1)
        try:
            data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            result = session.run(None, {entry.name: numpy.asarray(data, dtype=numpy.float32)})
            self.answer(200, json.dumps([output.tolist() for output in result]))
        finally:
            enter(-1)


http.server.ThreadingHTTPServer(("", PORT), Handler).serve_forever()
