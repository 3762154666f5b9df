# The headers as file sets of the targets that they need, each named after its target: dice_core has core, dice_mpi has mpi.
# If a target is missing, its headers go to dice_core: they are installed too, since programs may be built elsewhere.
#
# The tests structure.headers.* compile each header by itself. CMake can do this, too, but takes longer:
# -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON makes the target all_verify_interface_header_sets.
file(GLOB_RECURSE dice_headers CONFIGURE_DEPENDS "${DICE_INCLUDE_DIR}/dice/*.hpp" "${DICE_INCLUDE_DIR}/dice/*.ipp")

# dice_add_headers(PART REGEX): adds the remaining headers whose paths match.
function(dice_add_headers part regex)
  set(headers ${dice_headers})
  list(FILTER headers INCLUDE REGEX "${DICE_INCLUDE_DIR}/dice/${regex}")
  list(REMOVE_ITEM dice_headers ${headers})
  set(dice_headers "${dice_headers}" PARENT_SCOPE)
  set(target dice_core)
  if(TARGET dice_${part})
    set(target dice_${part})
  endif()
  target_sources(${target} INTERFACE FILE_SET ${part} TYPE HEADERS BASE_DIRS "${DICE_INCLUDE_DIR}" FILES ${headers})
endfunction()
# Each backend's folder, found or not; the reference is part of core, and cudnn has a target of another name.
file(GLOB dice_folders RELATIVE "${DICE_INCLUDE_DIR}/dice/kernels" CONFIGURE_DEPENDS "${DICE_INCLUDE_DIR}/dice/kernels/*/operators.hpp")
list(TRANSFORM dice_folders REPLACE "/.*" "")
list(REMOVE_ITEM dice_folders reference cudnn)
foreach(backend IN LISTS dice_folders)
  dice_add_headers(${backend} "kernels/${backend}/")
endforeach()
dice_add_headers(cudnn_headers "kernels/cudnn/")
dice_add_headers(mpi "channels/mpi/")
dice_add_headers(dice "(frames/|runtime/|assembly/|job/|report/|measure/|advice/|app/|dice.hpp|engine.hpp|pixels.hpp)")
dice_add_headers(core "")
set_target_properties(dice_core PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY core)
