-- SPDX-License-Identifier: BSD-2-Clause
-- A table of PostgreSQL that refuses late writers.
--
-- A session says once which fencing token it has; every change of a row is
-- checked against the largest token that changed this row before. PostgreSQL
-- locks the row first, so check and change are one step. No statement can
-- forget the check.
CREATE TABLE account (
    name text PRIMARY KEY,
    balance bigint NOT NULL,
    fence bigint NOT NULL DEFAULT 0
);

CREATE FUNCTION refuse_late_writer() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    token bigint := nullif(current_setting('quorlock.fence', true), '');
BEGIN
    IF token IS NULL THEN
        RAISE EXCEPTION 'account %: no fencing token', OLD.name
            USING HINT = 'Say SET quorlock.fence = ''TOKEN'' first.';
    END IF;
    IF token < OLD.fence THEN
        RAISE EXCEPTION 'account %: token % is late, % was here',
            OLD.name, token, OLD.fence;
    END IF;
    IF TG_OP = 'DELETE' THEN
        RETURN OLD;
    END IF;
    NEW.fence := token;
    RETURN NEW;
END
$$;

CREATE TRIGGER refuse_late_writer BEFORE UPDATE OR DELETE ON account
    FOR EACH ROW EXECUTE FUNCTION refuse_late_writer();
