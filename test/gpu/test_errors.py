"""test_errors.py PROGRAM NETWORK MODEL: failures of a GPU are reported in one line with rank, host and remedy, and end the
whole job.

PROGRAM is networks_emulated_gpu, whose GPU is broken by DICE_EMULATED_GPU (test/emulated_gpu/emulated.hpp); NETWORK one of
its networks, MODEL the path of its files without _in.npy. With MPIRUN, a GPU rank and a CPU rank run with MPI; otherwise
both run in one process.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, NETWORK, MODEL = sys.argv[1:4]
MPIRUN = os.environ.get('MPIRUN')
NO_CUDA = 'GPU 0: cannot be used: '
ERRORS = {  # what is broken: the message, as a pattern
    'driver=0': NO_CUDA + 'there is no NVIDIA driver; install one, or map this rank to cpu',
    'driver=12020': NO_CUDA + r'the NVIDIA driver is for CUDA 12\.2, this program for CUDA \d+\.\d+; install a newer driver',
    'devices=0': NO_CUDA + 'there is no GPU, or CUDA_VISIBLE_DEVICES hides all',
    'cudaGetDeviceCount=34': NO_CUDA + 'the library libcuda that was found is the one for linking only',
    'cudaGetDeviceCount=803': NO_CUDA + 'the NVIDIA driver and its library have different versions',
    'cudaGetDeviceCount=802': NO_CUDA + 'the GPU is not ready',
    'cudaFree#1=46': NO_CUDA + 'other processes use the GPU exclusively',
    'cudaFree#1=805': NO_CUDA + 'the CUDA MPS daemon does not answer',
    'cudaSetDevice=101': NO_CUDA + 'there is none of this number',
    'cudaLaunchKernel#1=209': r'GPU 0 \(Emulated GPU\): its compute capability is 9\.0, but this program has code for '
                              'emulated; build it with -DDICE_CUDA_ARCHITECTURES=90',
    'cudaLaunchKernel#1=222': r'GPU 0: cannot compute: .*have to be compiled; install a newer driver, or build for this GPU',
    'total=100K': r'GPU 0 \(Emulated GPU\): this rank needs \d+ KiB \(weights \d+ KiB, arena \d+ KiB, of which working '
                  r'memory of kernels \d+ KiB\), but of 100 KiB only \d+ KiB are free; give it fewer layers',
    'cudaMalloc#2=2': r'GPU 0 \(Emulated GPU\): it cannot provide \d+ KiB; others use it, too',
    'cudaHostAlloc#1=2': r'GPU 0 \(Emulated GPU\): the host cannot provide \d+ KiB of pinned memory',
    'cudnnCreate=1001': r"layer '[^']+': cuDNN cannot start: .*\(1001.*a part of cuDNN is missing",
    'cudnnCreate=1002': r"layer '[^']+': cuDNN cannot start: .*several versions of cuDNN are found",
    'cudnnCreate=1008': r"layer '[^']+': cuDNN cannot start: .*a part of cuDNN is missing",
    'cudnnCreate=3005': r"layer '[^']+': cuDNN cannot start: .*the NVIDIA driver is too old for this cuDNN",
    'cudnnCreate=3007': r"layer '[^']+': cuDNN cannot start: .*this GPU is too old for this cuDNN",
    'cudnnBackendFinalize:plan=3000': r"layer '[^']+': cuDNN \d+ has no engine for this convolution in float32 on Emulated "
                                      r'GPU \(conv x1,3,\d+,\d+ .* NCHW .*\); allow it TF32 with precision<tf32>, or '
                                      'compute the layer on a CPU',
    'kernel#9=700': r'GPU 0: cannot compute: a kernel has failed \(.*start the program again',
    'cudaGraphLaunch#3=719': r'GPU 0: cannot compute: a kernel has failed',
    'cudaGraphLaunch#3=999': r'GPU 0: cannot compute: the GPU no longer responds; dmesg says why \(Xid\)',
    'cudaGraphLaunch#3=214': r"GPU 0: cannot compute: the GPU reports a fault of its hardware",
    'cudaGraphLaunch#3=702': r"GPU 0: cannot compute: a kernel ran longer than the display's watchdog allows",
    'cudaEventQuery#2=719': r'GPU 0: cannot compute: a kernel has failed',
}


class Errors(unittest.TestCase):
    def run_program(self, folder, broken, *options, network=NETWORK, mapping='gpu_cpu'):
        command = [PROGRAM, network, mapping, '--weights', f'{folder}/weights.safetensors', *options]
        if MPIRUN:
            command = [MPIRUN, '--oversubscribe', '--bind-to', 'none', '-n', '2', *command]
        else:
            command += ['--transport', 'in-process']
        done = subprocess.run(command, env={**os.environ, 'DICE_EMULATED_GPU': broken, 'OMP_NUM_THREADS': '1'},
                              capture_output=True, text=True, timeout=60)
        # AddressSanitizer's warning about the emulated threads of a block.
        done.stderr = re.sub(r"==\d+==WARNING: ASan doesn't fully support makecontext/swapcontext.*\n", '', done.stderr)
        return done

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copy(os.environ['WEIGHTS'], f'{self.folder}/weights.safetensors')

    def test_errors(self):
        few = 'driver=0', 'total=100K', 'cudnnBackendFinalize:plan=3000', 'cudaGraphLaunch#3=719', 'cudaEventQuery#2=719'
        for broken, expected in ERRORS.items():
            if MPIRUN and broken not in few:
                continue  # each takes seconds, and is the same in process
            with self.subTest(broken):
                done = self.run_program(self.folder, broken, '--random', '1', '--frames', '8')
                told = [line for line in done.stderr.splitlines() if line.startswith('dice: error: ')]
                self.assertNotEqual(done.returncode, 0, done.stdout)
                self.assertEqual(len(told), 1, done.stderr)
                self.assertTrue(re.search(r'rank 0 \(host [^)]+\)[^:]*: .*' + expected, told[0]), told[0])

    def test_choices(self):
        """A second start uses the stored choice of kernels; if that is stale or damaged, kernels are measured again."""
        options = '--input', f'{MODEL}_in.npy', '--expect', f'{MODEL}_out.npy', '--tolerance', '1e-4'
        kept = f'{self.folder}/weights.safetensors.Emulated-GPU.kernels'

        def run():
            done = self.run_program(self.folder, '', *options)
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            with open(kept) as file:
                return file.read()

        first = run()
        self.assertIn('\nconv x', first)
        stamp = os.stat(kept).st_mtime_ns
        self.assertEqual(run(), first)
        self.assertEqual(os.stat(kept).st_mtime_ns, stamp)
        for damage in (lambda text: text.replace('driver 13.0', 'driver 12.9'),
                       lambda text: re.sub(r'(conv .*) = .*', r'\1 = 987654 3=4', text),
                       lambda text: re.sub(r'(conv .*) = .*', r'\1 = nonsense', text),
                       lambda text: '', lambda text: text[:150], lambda text: '\x00\xff' * 500):
            self.assertNotEqual(damage(first), first)
            with open(kept, 'w') as file:
                file.write(damage(first))
            again = run()
            self.assertEqual([line.split(' = ')[0] for line in again.splitlines()],
                             [line.split(' = ')[0] for line in first.splitlines()])
            self.assertEqual(again.splitlines()[:2], first.splitlines()[:2])  # format, and what it was measured with
            for wrong in '987654', 'nonsense', '\x00':
                self.assertNotIn(wrong, again)

    @unittest.skipIf(MPIRUN, 'one rank')
    def test_choices_of_products(self):
        """The same for fully connected layers, which ResNet has."""
        network, model = NETWORK.replace('squeezenet', 'resnet'), MODEL.replace('squeezenet', 'resnet')
        folder = f'{self.folder}/resnet'
        os.mkdir(folder)
        shutil.copy(os.environ['WEIGHTS'].replace('squeezenet', 'resnet'), f'{folder}/weights.safetensors')
        kept = f'{folder}/weights.safetensors.Emulated-GPU.kernels'

        def run():
            done = self.run_program(folder, '', '--input', f'{model}_in.npy', '--expect', f'{model}_out.npy', '--tolerance',
                                    '1e-4', network=network, mapping='gpu')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            with open(kept) as file:
                return file.read()

        first = run()
        damaged = re.sub(r'(product .*) = .*', r'\1 = lt 1 2 3', first)
        self.assertNotEqual(damaged, first)
        with open(kept, 'w') as file:
            file.write(damaged)
        self.assertNotIn('lt 1 2 3', run())

    def test_elsewhere(self):
        """A program without CUDA has the same plan, and works only for CPU ranks."""
        options = '--input', f'{MODEL}_in.npy', '--expect', f'{MODEL}_out.npy', '--tolerance', '1e-4'
        weights = '--weights', f'{self.folder}/weights.safetensors'
        elsewhere = os.environ['ELSEWHERE']

        def run(*command):
            return subprocess.run(command, capture_output=True, text=True, timeout=60,
                                  env={**os.environ, 'OMP_NUM_THREADS': '1'})

        self.assertEqual(run(elsewhere, '--plan=steps').stdout, run(PROGRAM, NETWORK, 'gpu_cpu', '--plan=steps').stdout)
        alone = run(elsewhere, *weights, *options, '--transport', 'in-process')
        self.assertEqual(alone.returncode, 1)
        self.assertRegex(alone.stderr, r'^dice: error: rank 0 \(host [^)]+\): this rank computes on a GPU, but its program '
                                       r'was built without CUDA \(DICE_CUDA=ELSEWHERE\); build it here with -DDICE_CUDA=ON')
        if MPIRUN:
            words = shlex.join([*weights, *options])  # mpirun of Open MPI 5.0 crashes on several commands
            both = run(MPIRUN, '--oversubscribe', '--bind-to', 'none', '-n', '2', 'sh', '-c', 'if [ $OMPI_COMM_WORLD_RANK = 0 ]; then exec '
                       f'{shlex.join([PROGRAM, NETWORK])} gpu_cpu {words}; else exec {shlex.quote(elsewhere)} {words}; fi')
            self.assertEqual((both.returncode, both.stderr), (0, ''))
            self.assertIn('rank 0 on Emulated GPU: ', both.stdout)

    @unittest.skipUnless(MPIRUN, 'needs MPI')
    def test_cuda_aware(self):
        """The emulated GPU's memory is host memory, so any MPI can handle it."""
        options = '--input', f'{MODEL}_in.npy', '--expect', f'{MODEL}_out.npy', '--tolerance', '1e-4', '--cuda-aware'
        done = self.run_program(self.folder, '', *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('dice: warning: this MPI does not say that it was built with CUDA; dice tries it now', done.stderr)

    @unittest.skipIf(MPIRUN, 'by MPI it has messages')
    def test_cuda_aware_without_messages(self):
        done = self.run_program(self.folder, '', '--random', '1', '--cuda-aware')
        self.assertEqual((done.returncode, done.stderr),
                         (2, 'dice: error: --cuda-aware: this run sends no messages by MPI; omit the option\n'))

    def test_no_place_for_choices(self):
        os.mkdir(f'{self.folder}/weights.safetensors.Emulated-GPU.kernels')
        done = self.run_program(self.folder, '', '--random', '1')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"^dice: warning: rank 0 \(host [^)]+\): '.*\.kernels' cannot be written: .+, so that each "
                                      'start measures again which kernels are fastest\n$')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
