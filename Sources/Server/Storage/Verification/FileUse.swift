import ParleySQLite

extension Check {
  static let fileUse = Check(
    "file use", "the recorded disk usage of each user and of the site is the sum of their files"
  ) { examination in
    examination.count(try examination.number("select count(*) from file_use"), "sums")
    try examination.expectNone(
      """
      select coalesce(u.owner_id, s.owner_id), coalesce(u.bytes, 0), coalesce(s.bytes, 0)
      from (
        select owner_id, sum(size + coalesce(preview_size, 0)) as bytes
        from file
        group by owner_id
        union all
        select 0, coalesce(sum(size + coalesce(preview_size, 0)), 0)
        from file
      ) s
      full join file_use u on u.owner_id = s.owner_id
      where coalesce(u.bytes, 0) <> coalesce(s.bytes, 0)
      """
    ) { row in
      "the files of user \(try row.int(0)) have \(try row.int(2)) bytes, but the recorded usage is \(try row.int(1))"
    }
  }
}
