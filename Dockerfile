# RAdam Lab on one machine, hosted: `docker build -t radam-lab . && docker run -p 8501:8501 -v radam-lab:/data radam-lab`
# See docs/HOSTING.md. Nothing here needs a compiler, a GPU or a browser.
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 lab && mkdir /data && chown lab /data
WORKDIR /app

# `--build-arg TORCH_INDEX=...`: where torch's CPU wheels are. Without it torch brings several GB of CUDA packages along.
ARG TORCH_INDEX=""
COPY requirements.txt .
RUN if [ -n "$TORCH_INDEX" ]; then \
        pip install --no-cache-dir --extra-index-url "$TORCH_INDEX" "$(grep '^torch==' requirements.txt)+cpu"; \
    fi \
    && pip install --no-cache-dir -r requirements.txt

COPY app.py ./
COPY .streamlit .streamlit
COPY radam_core radam_core
COPY demo_models demo_models
COPY dashboard dashboard
COPY pages pages
COPY docs docs
COPY deploy deploy

USER lab
ENV RADAM_LAB_MODE=hosted \
    RADAM_LAB_RUNS=/data \
    PYTHONDONTWRITEBYTECODE=1
VOLUME /data
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.port", "8501", "--server.address", "0.0.0.0"]
