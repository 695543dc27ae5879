/** UI trees that `uiautomator dump` wrote on real phones, in a public repository. */
export interface DumpSource {
  /** Address that git can clone. */
  repository: string;
  commit: string;
  /** Paths of files by screen, as a person would distinguish them. */
  screens: Readonly<Record<string, readonly string[]>>;
}

/** Sources of dumps. This repository contains none of them: they belong to others and show names of people. */
export const dumpSources: readonly DumpSource[] = [
  // WeCom in Chinese, with IDs of three letters that change with each version, and a launcher.
  {
    repository: 'https://github.com/369219053/wework-auto-reply.git',
    commit: '76f390de540d05bea85e287c114039a6043459c3',
    screens: {
      'group chat': [
        'chat_input.xml',
        'ui_check_current.xml',
        'ui_current.xml',
        'ui_step2_group_chat.xml',
        'ui_step9_group_chat.xml',
        'window_dump_chat.xml',
      ],
      launcher: ['current_ui.xml', 'ui_current_check.xml'],
      'customer details': ['ui_after_approve.xml'],
      'partner details': ['ui_step7_after_complete.xml'],
      'note on a customer': ['ui_after_click_approve.xml', 'ui_complete_page.xml'],
      'new customers': [
        'ui_before_click_view.xml',
        'ui_new_customers_list.xml',
        'ui_new_list.xml',
        'ui_step4_new_customers.xml',
      ],
      'ways to add a customer': ['ui_step3_add_customer.xml'],
      messages: [
        'ui_before_view.xml',
        'ui_customer_list_final.xml',
        'ui_step1_message.xml',
        'ui_step8_message_page.xml',
        'window_dump.xml',
      ],
      'add members': [
        'ui_check_confirm.xml',
        'ui_confirm_button.xml',
        'ui_customer_list_correct.xml',
        'ui_customer_list_debug.xml',
        'ui_customer_list_now.xml',
        'ui_step13_add_member_page.xml',
        'ui_step13_select_contact.xml',
        'ui_step14_my_customers_expanded.xml',
        'ui_step15_after_select.xml',
        'ui_step5_add_member.xml',
        'ui_step6_my_customers.xml',
        'ui_step7_customer_selected.xml',
      ],
      contacts: [
        'ui_current_page.xml',
        'ui_current_state.xml',
        'ui_step2_contacts.xml',
        'ui_wework_home.xml',
      ],
      'personal information': [
        'ui_customer_detail_check.xml',
        'ui_detail.xml',
        'ui_step5_customer_detail.xml',
      ],
      'business card': ['ui_customer_list.xml'],
      'group details': [
        'ui_step10_more_menu.xml',
        'ui_step10_more_menu_retry.xml',
        'ui_step3_group_details.xml',
      ],
      'group code': ['ui_step11_add_member.xml'],
      'group members': [
        'ui_step12_all_members.xml',
        'ui_step13_select_contact_retry.xml',
        'ui_step16_after_confirm.xml',
        'ui_step4_all_members.xml',
        'ui_step8_after_confirm.xml',
      ],
      search: ['ui_step14_search.xml'],
      'complete the card': ['ui_step6_after_approve.xml'],
      'invitation to confirm': ['ui_dumps/invite_confirm_dialog.xml'],
    },
  },
];
