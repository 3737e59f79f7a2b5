# The HTTP server: docker run -p 127.0.0.1:8765:8765 -v mnemos:/data mnemos
# An MCP server over a pipe: docker run -i --rm -v mnemos:/data mnemos mcp
FROM python:3.13-slim AS build
WORKDIR /build
COPY . .
RUN python -m venv /opt/mnemos && /opt/mnemos/bin/pip install --no-cache-dir '.[mcp,server]'

FROM python:3.13-slim
COPY --from=build /opt/mnemos /opt/mnemos
RUN useradd --create-home --uid 1000 mnemos && install -d -o mnemos -g mnemos -m 0700 /data
ENV PATH=/opt/mnemos/bin:$PATH MNEMOS_HOME=/data PYTHONUNBUFFERED=1
USER 1000
WORKDIR /home/mnemos
VOLUME /data
EXPOSE 8765
# Only for `serve`: with `mcp` there is no server to check.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s CMD ["/opt/mnemos/bin/python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/health', timeout=5)"]
ENTRYPOINT ["mnemos"]
# A container is only reachable through a published port or a proxy. Create a token first.
CMD ["serve", "--host", "0.0.0.0", "--port", "8765", "--behind-proxy", "--allowed-host", "localhost"]
