"""What run and pack.py share: commands with an end, the machine's libraries, and the build of all programs for a GPU."""
import collections
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BENCH = ROOT / 'bench/gpu'
SMALL = ROOT / 'test/networks/models/torch2.15'
PROBES = ['probe_engines', 'probe_products', 'probe_memory']


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class OutOfTime(Exception):
    pass


def left(t):
    return t.end - time.monotonic()


def environment(t, command):
    """For a command: dice's programs find the libraries, wherever they were built. Not PyTorch, which brings its own."""
    places = [t.build, *([t.packed / 'programs'] if t.packed else [])]
    if t.emulated:
        return {**os.environ, 'DICE_EMULATED_GPU': 'total=2G'}
    if pathlib.Path(command[0]).name.startswith('python') or not any(
            str(word).startswith(f'{place}/') for word in command for place in places):
        return None
    return {**os.environ, 'LD_LIBRARY_PATH': ':'.join([*map(str, libraries(t).folders),
                                                       *filter(None, [os.environ.get('LD_LIBRARY_PATH')])])}


def stop(process):
    """Ends it and its children: politely first, for ninja's compilers are in groups of their own."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(5)
        except (subprocess.TimeoutExpired, ProcessLookupError):
            pass


def call(t, command, env=None, allowed=(0,), most=None):
    """Runs a command, its output to the stage's log; the output. At the stage's end the command and its children are
    killed."""
    command = [str(word) for word in command]
    print('$', *command, file=t.log, flush=True)
    with tempfile.TemporaryFile('w+', errors='replace') as output:
        try:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                       env={**(environment(t, command) or os.environ), **(env or {})},
                                       start_new_session=True)
        except OSError as problem:
            raise Failed(f'{command[0]}: {problem.strerror}')
        late = False
        try:
            process.wait(max(1, min(left(t), most or 1e9)))
        except subprocess.TimeoutExpired:
            late = True
        finally:
            if process.poll() is None:
                stop(process)
        output.seek(0)
        text = output.read()
    t.log.write(text + ('' if text.endswith('\n') or not text else '\n'))
    t.log.flush()
    name = pathlib.Path(command[0]).name
    if late:
        raise OutOfTime(f'{name} was stopped')
    if process.returncode not in allowed:
        raise Failed(f'{name} fails ({process.returncode}): {last_line(text)}')
    return text


def last_line(text):
    """What tells most of an output: its first error, or else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.search(r'\b(error|Error|FAILED|CMake Error)\b', line)]
    return (errors or lines or [''])[0 if errors else -1][:200]


def told(command):
    """What a command prints, or '' if it is not there or fails."""
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


Libraries = collections.namedtuple('Libraries', 'toolkit cudnn headers cublas settings folders')


def libraries(t):
    return find_libraries(t.python)


@functools.cache
def find_libraries(python):
    """Where CUDA, cuDNN and cuBLASLt are: beside nvcc, in the system, or in Python packages, which have no names without a
    version, so that CMake has to be told; its settings, and the folders of what programs load."""
    nvcc = [path for path in (shutil.which('nvcc'), '/usr/local/cuda/bin/nvcc', '/usr/bin/nvcc') if path]
    headers = ('include', 'targets/*/include')  # not beside what only calls the compiler
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
        """(folder of the header, file of the library) of one place that has both."""
        for root in roots(packages):
            at = first([root / 'include' / header, root / 'include' / arch.name / header])
            if at and files(root, library):
                return at.parent, files(root, library)[0]
        return None, None
    settings, places = [], []
    headers, cudnn = find('cudnn_backend.h', 'cudnn', ['cudnn'])
    if cudnn:
        settings += [f'-DDICE_CUDNN_INCLUDE_DIR={headers}', f'-DDICE_CUDNN_LIBRARY={cudnn}']
        places.append(cudnn.parent)
    of_cublas, cublas = find('cublasLt.h', 'cublasLt', ['cu13', 'cu12', 'cublas'])
    if cublas and (not toolkit or toolkit not in cublas.resolve().parents):
        settings += [f'-DCUDA_cublasLt_LIBRARY={cublas}', f'-DCMAKE_CXX_FLAGS=-isystem {of_cublas}']
        places.append(cublas.parent)
    # cuDNN loads NVRTC for engines that it compiles.
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


def build(t, *targets, settings=()):
    configure(t, *settings)
    begin = time.monotonic()
    call(t, ['cmake', '--build', t.build, '--parallel', t.jobs, '--target', *targets])
    return f'{" ".join(targets)} in {time.monotonic() - begin:.0f} s'


def program(t, name):
    """Where a program is: in another build, in the packed folder or in the working folder's build."""
    ending = '_emulated_gpu' if t.emulated else '_gpu'
    places = {'kernels': [f'kernels_tests/test_kernels{ending}', f'test/kernels/test_kernels{ending}']}.get(name, [name])
    if name.startswith('small_'):
        places.append(f'test/networks/networks{ending}')
    folders = [t.given] if t.given else [*([t.packed / 'programs'] if t.packed else []), t.build]
    found = first([folder / place for folder in folders for place in places])
    if not found:
        raise Failed(f'there is no program {name} in {", ".join(map(str, folders))}; build it first')
    return found


def has(t, *names):
    """Whether programs were built before or elsewhere, so that nothing is to be done."""
    if not t.given and not (t.packed and (t.packed / 'programs').exists()):
        return False
    try:
        return all(program(t, name) and t.build not in program(t, name).parents for name in names)
    except Failed:
        return False


def weights(t, name, path):
    """--weights for a packed program, which does not find them where it was built."""
    if not t.packed or t.packed not in path.parents:
        return []
    folder = t.work / 'weights'
    folder.mkdir(exist_ok=True)
    file = folder / f'{name}.safetensors'
    if not file.exists():
        model = SMALL / f'{name.removesuffix("_torch2_15")}.onnx'
        call(t, [t.packed / 'bin/onnx2hpp', model, '-o', folder, '--name', name, '-q'])
    return ['--weights', file]
