-- Only the owner of an index may empty its list of new words, and agents should not own the tables: they call
-- this function, which runs as the owner.
DO $$
BEGIN
    EXECUTE format(
        'CREATE FUNCTION %1$I.empty_pending() RETURNS BIGINT LANGUAGE sql SECURITY DEFINER SET search_path = '''' '
        'BEGIN ATOMIC SELECT pg_catalog.gin_clean_pending_list(%2$L::pg_catalog.regclass); END',
        current_schema(), format('%I.words_by_word', current_schema())
    );
END
$$;
