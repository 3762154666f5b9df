# cmake -DOBJECTS=a.o;… -DNUMBER=n -DTO=b.o -DLD=… -DNM=… -DOBJCOPY=… -P DiceKernels.cmake: makes one object file of those that have
# the kernels of level n. Only kernels are compiled for newer CPUs, so nothing else of a program may call functions of these files:
# neither directly nor because the linker takes an inline function, such as one of std::vector, from here for all files. So all
# symbols become local, except for the kernels' own functions, and for variables, which all files must share: each thread's role,
# the threads that wait in std::atomic. For variables, which have no instructions, the linker may take any file's.
cmake_minimum_required(VERSION 3.25)

# symbols(OUT FILE): what other files see of it, as NAME|SECTION.
function(symbols out file)
  execute_process(COMMAND "${NM}" -f sysv --extern-only --defined-only "${file}" OUTPUT_VARIABLE found COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[][;]" "" found "${found}")
  string(REGEX MATCHALL "[^\n|]+[|][^\n]*[|][^\n|]+" found "${found}")
  list(FILTER found INCLUDE REGEX "^_")
  list(TRANSFORM found REPLACE " *[|].*[|] *" "|")
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

get_filename_component(folder "${TO}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
set(whole "${TO}.whole")
# Without groups, in which the linker would replace functions by those of other files.
execute_process(COMMAND "${LD}" -r --force-group-allocation -o "${whole}" ${OBJECTS} COMMAND_ERROR_IS_FATAL ANY)
symbols(shared "${whole}")
list(FILTER shared INCLUDE REGEX "[|]\\.t?(bss|data)(\\.|$)")
list(FILTER shared EXCLUDE REGEX "[|]\\.data\\.rel\\.ro")
list(TRANSFORM shared REPLACE "[|].*" "")
set(kernels _ZN4dice7kernels8compiledI _ZN4dice7kernels6openmp7convertE _ZN4dice7kernels6openmp8at_levelILi${NUMBER}E)
list(TRANSFORM shared REPLACE "(.+)" "--keep-global-symbol=\\1" OUTPUT_VARIABLE kept)
list(TRANSFORM kernels REPLACE "(.+)" "--keep-global-symbol=\\1*" OUTPUT_VARIABLE functions)
# Symbols of the kind `unique` only become local if they are weak. Not those that other files define: a linker that needs a library
# only for weak ones leaves it out.
symbols(weak "${whole}")
list(TRANSFORM weak REPLACE "[|].*" "")
list(JOIN weak "\n" weak)
file(WRITE "${TO}.weak" "${weak}\n")
execute_process(COMMAND "${OBJCOPY}" "--weaken-symbols=${TO}.weak" "${whole}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${OBJCOPY}" --wildcard ${kept} ${functions} "${whole}" "${TO}" COMMAND_ERROR_IS_FATAL ANY)
symbols(left "${TO}")
list(TRANSFORM left REPLACE "[|].*" "")
list(JOIN kernels "|" kernels)
list(FILTER left EXCLUDE REGEX "^(${kernels})")
list(REMOVE_ITEM left "" ${shared})
if(left)
  file(REMOVE "${TO}")
  message(FATAL_ERROR "dice: ${OBJCOPY} has not made these symbols of kernels local: ${left}")
endif()
file(REMOVE "${whole}" "${TO}.weak")
