"""What run and pack.py share: commands with an end, the machine's libraries, and the build of all programs for a GPU."""
import collections
import contextlib
import functools
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sysconfig
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENCH = ROOT / 'bench/gpu'
SMALL = ROOT / 'test/networks/models/torch2.15'
PROBES = ['probe_engines', 'probe_products', 'probe_memory']
SPLITS = ['cpu', *(f'gpu_{n}_cpu' for n in (2, 4, 6, 7)), *(f'cpu_{n}_gpu' for n in (1, 2, 4))]  # split_NAME_…
# Where to find CUDA's tools if they are not on PATH.
CUDA = [folder for folder in (os.environ.get('CUDA_HOME'), os.environ.get('CUDA_PATH'), '/usr/local/cuda',
                              *sorted(glob.glob('/usr/local/cuda-*'), reverse=True)) if folder]
os.environ['PATH'] = ':'.join([os.environ.get('PATH', os.defpath), '/usr/local/nvidia/bin', *(
    f'{folder}/{part}' for folder in CUDA for part in ('bin', 'compute-sanitizer', 'extras/compute-sanitizer'))])


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class OutOfTime(Exception):
    pass


def left(t):
    return t.end - time.monotonic()


def library_path(t):
    """LD_LIBRARY_PATH with which dice's programs find the libraries, wherever they were built."""
    return ':'.join([*map(str, libraries(t).folders), *filter(None, [os.environ.get('LD_LIBRARY_PATH')])])


def environment(t, command):
    """The environment of commands that run dice's programs. Not for PyTorch, which brings its own libraries."""
    data = {'DICE_EXPECTED_JSON': str(ROOT / 'test/kernels/expected.json')}
    if t.emulated:
        return {**os.environ, **data, 'DICE_EMULATED_GPU': 'total=2G'}
    places = [t.build, *([t.packed / 'programs'] if t.packed else [])]
    if pathlib.Path(command[0]).name.startswith('python') or not any(
            str(word).startswith(f'{place}/') for word in command for place in places):
        return os.environ
    return {**os.environ, **data, 'LD_LIBRARY_PATH': library_path(t)}


def stop(process):
    """Ends a process and its children: first by SIGTERM, so that ninja ends its compilers, which have process groups of
    their own."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(5)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            pass


@contextlib.contextmanager
def undisturbed():
    """Delays signals to the end of the block, so that what was started in it is known and stopped."""
    come = []
    handlers = {of: signal.getsignal(of) for of in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    handlers = {of: handler for of, handler in handlers.items() if callable(handler)}  # other signals are ignored already
    for of in handlers:
        signal.signal(of, lambda *_: come.append(1))
    try:
        yield
    finally:
        for of, handler in handlers.items():
            signal.signal(of, handler)
        if come:
            raise KeyboardInterrupt


def call(t, command, env=None, allowed=(0,), most=None, to=None):
    """Runs a command; returns its status and its output, which goes to the stage's log (with `to` only its errors). The
    command is killed with its children at the stage's end, or after `most` seconds, which is a failure."""
    command = [str(word) for word in command]
    name = pathlib.Path(command[0]).name
    print('$', *command, file=t.log, flush=True)
    env = {**environment(t, command), **(env or {})}
    begin = os.path.getsize(t.log.name)
    process = None
    try:
        with undisturbed():
            process = subprocess.Popen(command, stdout=to or t.log, stderr=t.log, stdin=subprocess.DEVNULL, env=env,
                                       start_new_session=True)
        process.wait(max(1, min(left(t), most or 1e9)))
    except OSError as problem:
        raise Failed(f'{command[0]}: {problem.strerror}')
    except subprocess.TimeoutExpired:
        if most and left(t) > 1:
            raise Failed(f'{name} hangs, or needs more than {most:g} s')
        raise OutOfTime(f'{name} was stopped')
    finally:
        if process and process.poll() is None:
            stop(process)
    text = pathlib.Path(t.log.name).read_bytes()[begin:].decode(errors='replace')
    if process.returncode not in allowed:
        raise Failed(f'{name} fails ({process.returncode}): {last_line(text)}')
    return subprocess.CompletedProcess(command, process.returncode, text)


def last_line(text):
    """The most telling line of an output: its first error, or else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r'\b(error|Error|FAILED|CMake Error)\b', line)]
    return (errors or lines or [''])[0 if errors else -1][:200]


def told(command):
    """The output of a command, or '' if it is missing or fails."""
    try:
        done = subprocess.run([str(w) for w in command], capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired):
        return ''
    return done.stdout.strip() if done.returncode == 0 else ''


# What the machine has

@functools.cache
def of_packages(python):
    """Folders below which Python packages have NVIDIA's libraries."""
    places = told([python, '-c', 'import sys; print(*sys.path, sep="\\n")']).splitlines()
    return [path for place in places if (path := pathlib.Path(place) / 'nvidia').is_dir()]


def first(paths):
    return next((path for path in paths if path.exists()), None)


def cudnn_version(headers):
    """[9, 19, 0], from cudnn_version.h in this folder; [] without one."""
    file = headers and headers / 'cudnn_version.h'
    return [int(n) for n in re.findall(r'#define CUDNN_(?:MAJOR|MINOR|PATCHLEVEL) (\d+)', file.read_text())] if file else []


def newest(found):
    """Of cuDNNs (folder of the headers, library). A program can run with a newer one than it was built for, not an older one."""
    return max(found, key=lambda one: cudnn_version(one[0]))


Libraries = collections.namedtuple('Libraries', 'toolkit cudnn headers cublas settings folders')


def libraries(t):
    return find_libraries(t.python)


@functools.cache
def find_libraries(python):
    """Finds CUDA, cuDNN and cuBLASLt: beside nvcc, in the system, or in Python packages. The latter have only file names
    with a version, so CMake needs their paths: returns its settings, and the folders of libraries that programs load."""
    nvcc = [path for path in (shutil.which('nvcc'), *(f'{folder}/bin/nvcc' for folder in CUDA), '/usr/bin/nvcc') if path]
    headers = ('include', 'targets/*/include')  # not where only a wrapper of the compiler lies
    toolkit = next((root for path in nvcc if (root := pathlib.Path(path).resolve().parents[1]) and any(
        file for folder in headers for file in root.glob(f'{folder}/cuda_runtime_api.h'))), None)
    arch = pathlib.Path('lib') / (sysconfig.get_config_var('MULTIARCH') or 'x86_64-linux-gnu')
    folders = ('lib64', 'lib', arch)
    own = [*([toolkit, *toolkit.glob('targets/*')] if toolkit else []), pathlib.Path('/usr'), pathlib.Path('/usr/local')]

    def roots(packages):
        return [*own, *(nvidia / package for nvidia in of_packages(python) for package in packages)]

    def files(root, library):
        return [file for folder in folders
                for file in [root / folder / f'lib{library}.so', *sorted((root / folder).glob(f'lib{library}.so.*'))]
                if file.exists()]

    def find(header, library, packages):
        """[(folder of the header, file of the library)] of the places that have both."""
        return [(at.parent, files(root, library)[0]) for root in roots(packages) if files(root, library) and (
            at := first([root / 'include' / header, root / 'include' / arch.name / header]))] or [(None, None)]
    settings, places = [], []
    headers, cudnn = newest(find('cudnn_backend.h', 'cudnn', ['cudnn']))
    if cudnn:
        settings += [f'-DDICE_CUDNN_INCLUDE_DIR={headers}', f'-DDICE_CUDNN_LIBRARY={cudnn}']
        places.append(cudnn.parent)
    of_cublas, cublas = find('cublasLt.h', 'cublasLt', ['cu13', 'cu12', 'cublas'])[0]
    if cublas:
        places.append(cublas.parent)
        if not toolkit or toolkit not in cublas.resolve().parents:
            settings += [f'-DCUDA_cublasLt_LIBRARY={cublas}', f'-DCMAKE_CXX_FLAGS=-isystem {of_cublas}']
    # cuDNN loads NVRTC to compile engines.
    places += [f.parent for root in roots(['cu13', 'cu12', 'cuda_nvrtc']) for f in files(root, 'nvrtc')][:1]
    return Libraries(toolkit, cudnn, headers, cublas, settings, list(dict.fromkeys(places)))


def capability(t):
    """"90", or '' without a GPU."""
    return told(['nvidia-smi', '--query-gpu=compute_cap', '--format=csv,noheader']).split('\n')[0].replace('.', '').strip()


# Building

def configure(t, *more):
    found = libraries(t)
    command = ['cmake', '-S', BENCH, '-B', t.build, '-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG',
               '-DDICE_CUDA=ON', f'-DDICE_CUDA_ARCHITECTURES={t.architectures or capability(t) or 90}',
               f'-DDICE_GPU_EMULATED={"ON" if t.emulated else "OFF"}', f'-DDICE_GPU_MODELS={t.models}',
               f'-DDICE_GPU_SMALL={";".join(t.small)}', f'-DDICE_GPU_SPLIT={";".join(t.split)}', *found.settings, *more]
    if shutil.which('ninja'):
        command += ['-G', 'Ninja']
    if found.toolkit:
        command.append(f'-DCUDAToolkit_ROOT={found.toolkit}')
    if t.board:
        command.append(f'-DDICE_BOARD={t.board}')
    if t.packed:
        command += [f'-DCMAKE_PREFIX_PATH={t.packed}', f'-DDICE_ONNX2HPP={t.packed / "bin/onnx2hpp"}']
        if (t.packed / 'lib/openmpi').exists():
            command += ['-DMPI_CXX_LIB_NAMES=mpi', f'-DMPI_mpi_LIBRARY={t.packed / "lib/libmpi.so"}',
                        f'-DMPI_CXX_HEADER_DIR={t.packed / "include/openmpi"}',
                        # A path for the libraries of libraries, too.
                        f'-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags,-rpath,{t.packed / "lib"}']
    elif t.onnx2hpp:
        command.append(f'-DDICE_ONNX2HPP={t.onnx2hpp}')
    call(t, command)


def mpirun(t):
    """The mpirun of --with-mpi, or of the machine; None if there is none."""
    return (first([t.packed / 'bin/mpirun']) if t.packed else None) or shutil.which('mpirun')


def make(t, *targets, settings=()):
    """Builds as many of these as possible; fails if one fails."""
    configure(t, *settings)
    call(t, ['cmake', '--build', t.build, '--parallel', t.jobs, '--target', *targets, '--',
             *(['-k', '0'] if shutil.which('ninja') else ['-k'])])


def find(t, name, *folders):
    """The path of a program; None if it is in none of these folders."""
    ending = '_emulated_gpu' if t.emulated else '_gpu'
    places = {'kernels': [f'{folder}test_kernels{ending}' for folder in ('', 'kernels_tests/', 'test/kernels/')]}.get(
        name, [name, *([f'test/networks/networks{ending}'] if name.startswith('small_') else [])])
    return first([folder / place for folder in folders if folder for place in places if (folder / place).is_file()])


def elsewhere(t):
    """The folders of programs that were built before."""
    return t.given, t.packed and t.packed / 'programs'


def program(t, name):
    found = find(t, name, *elsewhere(t), t.build)
    if not found:
        raise Skipped(f'there is no program {name}: see the stage build')
    return found


def weights(t, name, path):
    """--weights for a packed program, whose built-in path to them is not valid here."""
    if not t.packed or t.packed not in path.parents:
        return []
    folder = t.work / 'weights'
    folder.mkdir(exist_ok=True)
    file = folder / f'{name}.safetensors'
    if not file.exists():
        model = SMALL / f'{name.removesuffix("_torch2_15")}.onnx'
        call(t, [t.packed / 'bin/onnx2hpp', model, '-o', folder, '--name', name, '-q'])
    return ['--weights', file]
