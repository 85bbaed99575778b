# The server in a container: slim, not root, nothing written but to memory. Models are mounted.
#   docker build -t concatmt . && docker run -v ./model:/models/model:ro -p 127.0.0.1:5000:5000 concatmt
FROM python:3.11-slim AS build
# An index with builds of torch for the CPU alone makes the image several gigabytes smaller.
ARG PIP_EXTRA_INDEX_URL=
WORKDIR /src
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN python -m venv /venv \
    && PIP_CONSTRAINT=constraints.txt /venv/bin/pip install --no-cache-dir \
        --constraint constraints.txt '.[serve,text]'

FROM python:3.11-slim
RUN useradd --system --uid 10001 --no-create-home concatmt
COPY --from=build /venv /venv
USER 10001
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
EXPOSE 5000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:5000/health', timeout=4)"]
ENTRYPOINT ["concatmt", "serve", "--host", "0.0.0.0"]
CMD ["/models/model", "--int8"]
