"""run --pack: collects what a machine with a GPU, but without Debian's packages and network, lacks to build and run dice."""
import pathlib
import re
import shutil
import sysconfig
import tarfile
import tempfile

from common import PROBES, ROOT, call, find, first, make, told


def copy(source, to, names=None):
    to.mkdir(parents=True, exist_ok=True)
    for name in names or sorted(path.name for path in source.iterdir()):
        if (source / name).is_dir():
            shutil.copytree(source / name, to / name, dirs_exist_ok=True)
        else:
            shutil.copy2(source / name, to / name)


def write_script(path, text):
    path.write_text('#!/bin/sh\n' + text)
    path.chmod(0o755)


def needed(path):
    """The shared libraries of a program beyond those that every Linux with g++ has."""
    common = re.compile(r'(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|util|resolv|gcc_s|stdc\+\+|gomp|nsl|crypt|anl))[.-]')
    found = re.findall(r'^\s*(\S+) => (/\S+)', told(['ldd', path]), re.MULTILINE)
    return [pathlib.Path(file) for name, file in found if not common.match(name)]


def version_of(header, pattern):
    return '.'.join(re.search(pattern, pathlib.Path(header).read_text(), re.DOTALL).groups())


PACKAGE = '''# Where --pack has put this package.
get_filename_component(prefix "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
{targets}
set({name}_FOUND TRUE)
'''
TARGET = '''if(NOT TARGET {name})
  add_library({name} {kind} IMPORTED)
  set_target_properties({name} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${{prefix}}/include"{more})
endif()
'''


def package(folder, name, version, targets):
    """A CMake package file of imported targets: {target: (properties, file)}."""
    place = folder / 'lib/cmake' / name
    place.mkdir(parents=True, exist_ok=True)
    texts = []
    for target, (more, file) in targets.items():
        kind = 'INTERFACE' if not file else 'UNKNOWN'
        more = (f' IMPORTED_LOCATION "${{prefix}}/lib/{file}"' if file else '') + (' ' + more if more else '')
        texts.append(TARGET.format(name=target, kind=kind, more=more))
    (place / f'{name}Config.cmake').write_text(PACKAGE.format(name=name, targets='\n'.join(texts)))
    (place / f'{name}ConfigVersion.cmake').write_text(
        f'set(PACKAGE_VERSION {version})\nif(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n'
        '  set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n')


def pack(t):
    folder, include = t.pack, pathlib.Path('/usr/include')
    for part in ('bin', 'include', 'lib'):
        shutil.rmtree(folder / part, ignore_errors=True)
    (folder / 'bin').mkdir(parents=True)
    converter = first([t.given / 'tools/onnx2hpp/onnx2hpp']) if t.given else t.onnx2hpp
    if not converter:
        print('builds onnx2hpp', flush=True)
        call(t, ['cmake', '-S', ROOT, '-B', t.work / 'host', '-DCMAKE_BUILD_TYPE=Release', '-DDICE_BUILD_TESTS=OFF',
                 '-DDICE_BUILD_EXAMPLES=OFF', '-DDICE_CUDA=OFF', *(['-G', 'Ninja'] if shutil.which('ninja') else [])])
        call(t, ['cmake', '--build', t.work / 'host', '--parallel', t.jobs, '--target', 'onnx2hpp'])
        converter = t.work / 'host/tools/onnx2hpp/onnx2hpp'
    # The program in a folder of its own with its libraries, which must not replace the machine's.
    copy(converter.parent, folder / 'lib/onnx2hpp', ['onnx2hpp'])
    for library in needed(converter):
        shutil.copy2(library.resolve(), folder / 'lib/onnx2hpp' / library.name)
    write_script(folder / 'bin/onnx2hpp', 'here=$(cd "$(dirname "$0")/../lib/onnx2hpp" && pwd)\n'
                 'LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/onnx2hpp" "$@"\n')

    copy(include, folder / 'include', ['xtensor', 'xtl', 'nlohmann', 'gtest'])
    with tempfile.TemporaryDirectory() as scratch:
        probe = pathlib.Path(scratch) / 'a.cpp'
        probe.write_text('#include <boost/hana.hpp>\n#include <boost/version.hpp>\n' + (
            '#include <boost/mpi.hpp>\n#include <boost/serialization/vector.hpp>\n' if t.with_mpi else ''))
        mpi = told(['mpicxx', '--showme:incdirs']).split() if t.with_mpi else []
        words = call(t, ['g++', '-std=c++20', '-M', *(f'-I{i}' for i in mpi), probe]).stdout.split()
    for header in {pathlib.Path(w) for w in words if w.startswith(str(include / 'boost'))}:
        to = folder / header.relative_to('/usr')
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(header, to)
    copy(include / 'boost', folder / 'include/boost', ['hana', 'config'])  # other compilers may include other parts
    arch = pathlib.Path('/usr/lib') / sysconfig.get_config_var('MULTIARCH')
    copy(arch, folder / 'lib', ['libgtest.a', 'libgtest_main.a'])

    boost = {'Boost::headers': ('', None), 'Boost::boost': ('', None)}
    if t.with_mpi:
        boost |= pack_mpi(t, folder, arch)
    digits = int(re.search(r'#define BOOST_VERSION (\d+)', (include / 'boost/version.hpp').read_text())[1])
    package(folder, 'Boost', f'{digits // 100000}.{digits // 100 % 1000}.{digits % 100}', boost)
    package(folder, 'xtensor', version_of(
        include / 'xtensor/xtensor_config.hpp', r'VERSION_MAJOR (\d+).*?VERSION_MINOR (\d+).*?VERSION_PATCH (\d+)'),
        {'xtl': ('', None), 'xtensor': ('INTERFACE_LINK_LIBRARIES xtl', None)})
    package(folder, 'nlohmann_json', version_of(
        first([include / 'nlohmann/detail/abi_macros.hpp', include / 'nlohmann/json.hpp']),
        r'VERSION_MAJOR (\d+).*?VERSION_MINOR (\d+).*?VERSION_PATCH (\d+)'), {'nlohmann_json::nlohmann_json': ('', None)})
    package(folder, 'GTest', '1.12.1', {
        'GTest::gtest': ('INTERFACE_LINK_LIBRARIES pthread', 'libgtest.a'),
        'GTest::gtest_main': ('INTERFACE_LINK_LIBRARIES GTest::gtest', 'libgtest_main.a')})
    if t.programs:
        pack_programs(t, folder)
    if t.archive:
        with tarfile.open(t.archive, 'w:gz') as tar:
            tar.add(folder, 'pack')
    size = sum(f.stat().st_size for f in ([t.archive] if t.archive else folder.rglob('*')) if f.is_file() and not f.is_symlink())
    print(f'{t.archive or folder}: {size / 2**20:.1f} MiB')
    most = 48  # with the checkout some 64, the most that some machines accept
    return 0 if size <= most * 2**20 else (
        f'run: that is more than {most} MiB; make a FILE.tar.gz, name the GPU (--architectures), or leave out --with-mpi or --programs')


def pack_mpi(t, folder, arch):
    """Open MPI and Boost.MPI, and a bin/mpirun that finds its parts here."""
    openmpi = pathlib.Path(told(['mpicxx', '--showme:libdirs']).split()[0])
    copy(pathlib.Path(told(['mpicxx', '--showme:incdirs']).split()[0]), folder / 'include/openmpi')
    # Omit plugins that need large libraries, for networks that a single machine does not have.
    shutil.copytree(openmpi / 'openmpi3' if (openmpi / 'openmpi3').exists() else arch / 'openmpi/lib/openmpi3',
                    folder / 'lib/openmpi', dirs_exist_ok=True,
                    ignore=lambda _, names: [n for n in names if re.search(r'ucx|ofi|usnic|psm|portals|openib|lustre', n)])
    copy(pathlib.Path('/usr/share/openmpi'), folder / 'share/openmpi')
    (folder / 'lib/bin').mkdir()
    for name in ('mpirun', 'orted'):
        shutil.copy2(pathlib.Path(shutil.which(name)).resolve(), folder / 'lib/bin' / name)
    write_script(folder / 'bin/mpirun', 'prefix=$(cd "$(dirname "$0")/.." && pwd)\n'
                 'export OPAL_PREFIX=$prefix OPAL_BINDIR=$prefix/lib/bin OPAL_LIBDIR=$prefix/lib\n'
                 'export OPAL_PKGLIBDIR=$prefix/lib/openmpi\n'
                 'export OPAL_DATADIR=$prefix/share OPAL_PKGDATADIR=$prefix/share/openmpi\n'
                 'export LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\n'
                 'exec "$prefix/lib/bin/mpirun" "$@"\n')
    wanted = [arch / 'libboost_mpi.so', arch / 'libboost_serialization.so', openmpi / 'libmpi.so']
    for plugin in [*wanted, *(folder / 'lib/openmpi').glob('*.so'), folder / 'lib/bin/mpirun']:
        for library in needed(plugin):
            if not (folder / 'lib' / library.name).exists():
                shutil.copy2(library.resolve(), folder / 'lib' / library.name)
    for library in wanted:
        for name in {library.name, library.resolve().name}:  # by the first it is linked, by the second Boost's is loaded
            shutil.copy2(library.resolve(), folder / 'lib' / name)
    return {'Boost::serialization': ('', 'libboost_serialization.so'),
            'Boost::mpi': ('INTERFACE_LINK_LIBRARIES Boost::serialization', 'libboost_mpi.so')}


def pack_programs(t, folder):
    """The programs that depend neither on the machine's PyTorch nor on where this checkout is, for common CPUs and GPUs."""
    t.architectures, t.board = t.architectures or '80;90;100', 'x86-64-v3'  # code for 8.0 also runs on 8.6 and 8.9
    t.build = t.work / 'build-packed'
    print('builds programs', flush=True)
    names = ['kernels', *PROBES, *(f'small_{name}' for name in t.small_names)]
    make(t, *names, settings=['-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON', '-DDICE_STB_LIBRARY='])  # the machine may lack these
    place = folder / 'programs'
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for name in names:
        path = find(t, name, t.build)
        call(t, ['strip', '-o', place / path.name, path])
