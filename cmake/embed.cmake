# SPDX-License-Identifier: BSD-2-Clause
# Writes the Lua scripts as X(name, sha1, source) rows, one per file.
set(files ${SCRIPTS})
set(rows "/* Made from lua/ by cmake/embed.cmake. */\n")
foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} text)
    # Lines of comment are for readers of lua/, not for every connection.
    string(REGEX REPLACE "\n[ ]*--[^\n]*" "" text "\n${text}")
    string(REGEX REPLACE "\n\n+" "\n" text "${text}")
    string(REGEX REPLACE "^\n" "" text "${text}")
    # What a server hashes is the bytes that it is sent.
    string(SHA1 sha1 "${text}")
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "\n" "\\n\"\n  \"" text "${text}")
    string(APPEND rows "X(${name}, \"${sha1}\",\n  \"${text}\")\n")
endforeach()
file(WRITE ${OUTPUT} "${rows}")
