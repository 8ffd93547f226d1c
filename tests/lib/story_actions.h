/* SPDX-License-Identifier: BSD-2-Clause */
/* What a machine does, in the words of a story. */
#ifndef TESTS_LIB_STORY_ACTIONS_H
#define TESTS_LIB_STORY_ACTIONS_H

#include "core/machine.h"
#include "story_text.h"

/* The actions of a step at `now`, behind what the line has already. */
void story_write_actions(struct story_text *trace,
                         const struct ql_machine *machine, uint64_t now,
                         const struct ql_actions *actions);

#endif
