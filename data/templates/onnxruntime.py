#!/usr/bin/env python3
# A small server.
{{>head}}
# Stop it: press Ctrl+C.
"""Answers requests with a network in ONNX: POST a JSON array of numbers to /."""
import http.server
import json
import sys

import numpy
import onnxruntime

PORT = {{port|word}}
PROVIDERS = [{{#onnx_provider}}{{onnx_provider|python}}, {{/onnx_provider}}"CPUExecutionProvider"]
session = onnxruntime.InferenceSession(sys.argv[1], providers=PROVIDERS)
entry = session.get_inputs()[0]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        data = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = session.run(None, {entry.name: numpy.asarray(data, dtype=numpy.float32)})
        body = json.dumps([output.tolist() for output in result]).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("", PORT), Handler).serve_forever()
