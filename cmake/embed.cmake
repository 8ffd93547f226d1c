# SPDX-License-Identifier: BSD-2-Clause
# Writes the Lua scripts as X(name, sha1, source) rows, one per file.
set(files ${SCRIPTS})
set(rows "/* Made from lua/ by cmake/embed.cmake. */\n")
foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    # What a server hashes is the bytes that it is sent: those of the file.
    file(SHA1 ${file} sha1)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n  \"" text "${text}")
    string(APPEND rows "X(${name}, \"${sha1}\",\n  \"${text}\")\n")
endforeach()
file(WRITE ${OUTPUT} "${rows}")
