#!/usr/bin/env bash
# RAdam Lab in several processes on one machine, one store and one Dask scheduler, for nginx (deploy/nginx.conf) to
# share visitors out to: deploy/processes.sh [PROCESSES] [WORKERS] [FIRST PORT], by default 2 2 8501.
# Started again within seconds when one of them dies; Ctrl-C ends all. In hosted mode unless RADAM_LAB_MODE=local.
set -eu
cd "$(dirname "$0")/.."
processes=${1:-2} workers=${2:-2} port=${3:-8501}
bin=${RADAM_LAB_BIN:-.venv/bin}
scheduler=${RADAM_LAB_SCHEDULER_PORT:-8786}
export RADAM_LAB_MODE=${RADAM_LAB_MODE:-hosted} RADAM_LAB_RUNS=${RADAM_LAB_RUNS:-runs}
export DASK_SCHEDULER_ADDRESS=tcp://127.0.0.1:$scheduler
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
export MALLOC_TRIM_THRESHOLD_=8589934592 MALLOC_MMAP_THRESHOLD_=1073741824
export PYTHONPATH=$PWD${PYTHONPATH:+:$PYTHONPATH}
declare -A running=()

start() {  # by its name: scheduler, worker-1, app-8501
    case $1 in
        scheduler) "$bin/dask" scheduler --host 127.0.0.1 --port "$scheduler" --no-dashboard & ;;
        worker-*) "$bin/dask" worker "$DASK_SCHEDULER_ADDRESS" --host 127.0.0.1 --nthreads 4 --no-dashboard --no-nanny \
            --memory-limit "$(awk "BEGIN { print 1 / $workers }")" & ;;  # a share of what the machine has
        app-*) "$bin/streamlit" run app.py --server.address 127.0.0.1 --server.port "${1#app-}" & ;;
    esac
    running[$1]=$!
}

end() {
    trap - EXIT INT TERM
    kill "${running[@]}" 2>/dev/null || return 0
    for _ in $(seq 30); do
        sleep 0.5
        kill -0 "${running[@]}" 2>/dev/null || return 0  # all of them have ended
    done
    kill -9 "${running[@]}" 2>/dev/null || true
}
trap end EXIT
trap 'exit 0' INT TERM

start scheduler
for k in $(seq "$workers"); do start "worker-$k"; done
for k in $(seq 0 $((processes - 1))); do
    start "app-$((port + k))"
    [ "$k" -gt 0 ] || sleep 5  # the first one makes the store
done
while sleep 2; do
    for name in "${!running[@]}"; do
        kill -0 "${running[$name]}" 2>/dev/null || { echo "$name was gone and is started again"; start "$name"; }
    done
done
