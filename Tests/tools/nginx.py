"""Runs nginx from a folder under .build: one worker, no privileges, none of the system's configuration."""

import os
import subprocess
from pathlib import Path

from servers import BUILD, TOP, Server

CONFIGURATION = """\
daemon off;
{user}
worker_processes 1;
pid nginx.pid;
error_log stderr error;
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  {http}
}}
"""


def nginx(name, port, http):
    """A running nginx with `http` in its `http` block, which must listen on 127.0.0.1:`port`."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(CONFIGURATION.format(user=user, http=http))
    program = subprocess.run([TOP / "Tests/tools/nginx"], check=True, capture_output=True, text=True).stdout.strip()
    return Server(name, Path(program), "-e", "stderr", "-p", folder, "-c", folder / "nginx.conf", port=port)
