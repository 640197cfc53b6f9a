# The service in a container: docker build -t sottovoce . && docker run -p 127.0.0.1:8000:8000 -v sottovoce:/data sottovoce
# What it needs around it (TLS, backups, upgrades) stands in docs/how-to/operations.md.

FROM python:3.11-slim AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY constraints.txt /tmp/constraints.txt
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir -c /tmp/constraints.txt "$(ls /wheels/*.whl)[server]" \
 && rm -r /wheels /tmp/constraints.txt
# Nobody logs in as this user, and nothing but /data and /tmp is written.
RUN useradd --system --uid 10001 --no-create-home sottovoce \
 && install -d -m 700 -o sottovoce /data
ENV PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/tmp/numba
USER sottovoce
WORKDIR /data
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["sottovoce"]
CMD ["serve", "--host", "0.0.0.0", "--data", "/data"]
