# An MCP server over a pipe: docker run -i --rm -v mnemos:/data mnemos
FROM python:3.13-slim AS build
WORKDIR /build
COPY . .
RUN python -m venv /opt/mnemos && /opt/mnemos/bin/pip install --no-cache-dir '.[mcp]'

FROM python:3.13-slim
COPY --from=build /opt/mnemos /opt/mnemos
RUN useradd --create-home --uid 1000 mnemos && install -d -o mnemos -g mnemos -m 0700 /data
ENV PATH=/opt/mnemos/bin:$PATH MNEMOS_HOME=/data PYTHONUNBUFFERED=1
USER 1000
WORKDIR /home/mnemos
VOLUME /data
# Fails if the home can't be opened. An empty one is healthy.
HEALTHCHECK --interval=60s --timeout=10s CMD ["mnemos"]
ENTRYPOINT ["mnemos"]
CMD ["mcp"]
