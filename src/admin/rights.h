/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which rights a user has, found by trying: on a key of no other use that is
 * gone afterwards. Asking (ACL WHOAMI, GETUSER) is itself a right.
 */
#ifndef QL_ADMIN_RIGHTS_H
#define QL_ADMIN_RIGHTS_H

#include "admin/node.h"

enum admin_need {
    ADMIN_NEEDED,   /* by every client of the guarded level */
    ADMIN_USEFUL,   /* something is not known without */
    ADMIN_OPERATOR, /* by quorlock list */
};

struct admin_right {
    const char *name; /* as ACL SETUSER takes it */
    enum admin_need need;
    const char *without; /* what does not work then */
};

enum admin_trial {
    ADMIN_UNTRIED, /* something else that is missing prevented it */
    ADMIN_ALLOWED,
    ADMIN_DENIED,
    ADMIN_KEY_DENIED, /* the command perhaps, but not keys "quorlock:*" */
};

#define ADMIN_RIGHTS 16
extern const struct admin_right ADMIN_RIGHT[ADMIN_RIGHTS];

/* Tries each. False: the connection broke; verdict and text say why. */
bool admin_rights(const struct admin *admin, struct admin_node *node,
                  enum admin_trial trial[ADMIN_RIGHTS]);

/* The command that gives a user no more than what is needed, and `useful`
 * rights too. */
#define ADMIN_ACL 1024
const char *admin_acl(char text[ADMIN_ACL], const struct admin *admin,
                      bool useful);

#endif
