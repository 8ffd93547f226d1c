# SPDX-License-Identifier: BSD-2-Clause
"""What came of it, for people and in JSON."""
import json

QUIET = ("profile", "text", "partitions", "faults", "problems")


class Report:
    def __init__(self, options):
        self.options = options
        self.parts = []
        self.passed = self.failed = 0
        print(f"chaos: seed {options.seed}. It decides the faults; what comes "
              "of them depends on timing.", flush=True)

    def check(self, what, problems):
        self.passed += not problems
        self.failed += bool(problems)
        print(f"  {'FAILED' if problems else 'ok':6} {what}")
        for problem in problems:
            print(f"    {problem}")

    @staticmethod
    def not_tried(what, reason):
        print(f"  NOT TRIED {what}: {reason}", flush=True)

    def kill(self, figures):
        self._part(figures, "no child and no lock left over")

    def profile(self, figures):
        self._part(figures, "exclusion, liveness, nothing left")

    def _part(self, figures, promise):
        self.parts.append(figures)
        print(f"\n{figures['profile']}: {figures['text']}")
        if figures["partitions"] is not True:
            print(f"  NO PARTITIONS were tried: {figures['partitions']}")
        for name, value in figures.items():
            if name not in QUIET:
                print(f"  {name:43} {value}")
        print("  faults: " + ", ".join(
            f"{count} {kind}" for kind, count
            in sorted(figures["faults"].items())))
        self.check(f"{figures['profile']}: {promise}", figures["problems"])
        print(end="", flush=True)

    def attacks(self, table, locks):
        """`table`: {what happens: {level: Attack}}."""
        print(f"\nattacks: {locks} locks are held on nodes A, B, C; then, at "
              "C, ...: how many two clients had at once")
        rows = {}
        for what, by_level in table.items():
            rows[what] = {level: attack.double
                          for level, attack in by_level.items()}
            print(f"  {what:55} " + "  ".join(
                f"{level} {count} of {locks}"
                for level, count in rows[what].items()))
        self.parts.append({"profile": "attacks", "double": rows})
        for what, by_level in table.items():
            problems = []
            for level, attack in by_level.items():
                problems += [f"{level}: {one}" for one in attack.problems]
                if bool(attack.double) != (level == "plain"):
                    problems.append(
                        f"{level}: {attack.double} locks had two holders")
            self.check(f"attacks: {what}", problems)
        print(end="", flush=True)

    def planted(self, what, wrong, seen):
        if not any(part["profile"] == "planted" for part in self.parts):
            self.parts.append({"profile": "planted", "noticed": {}})
            print("\nplanted: faults that must be noticed")
        self.parts[-1]["noticed"][what] = seen or wrong
        self.check(f"planted: {what}", [wrong] if wrong else [])
        print(f"         {seen}" if seen else "", end="\n" if seen else "",
              flush=True)

    def finish(self):
        if self.options.json:
            self.options.json.write_text(json.dumps(
                {"seed": self.options.seed, "seconds": self.options.seconds,
                 "parts": self.parts}, indent=1) + "\n")
        print(f"\n{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
